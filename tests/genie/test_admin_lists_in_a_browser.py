"""Every list of the admin shows all its columns, on a screen and on a tablet."""

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.urls import reverse

from tests.browser import SLOW, picture
from tests.genie.filled import fill_all

pytestmark = SLOW
SIZES = [(1440, 900), (1024, 768)]
# headers whose right end lies outside of the window or of what scrolls around them
LOST = """() => {
  const list = document.querySelector('#changelist .results') ??
    document.querySelector('#content table')?.parentElement;
  if (!list) return ['no row to show'];
  const edge = Math.min(window.innerWidth, list.getBoundingClientRect().right) + 1;
  return [...list.querySelectorAll('thead th')]
    .filter(cell => cell.getBoundingClientRect().right > edge)
    .map(cell => cell.innerText.trim());
}"""


def test_no_column_is_lost(open_page):
    boss = get_user_model().objects.create_superuser("boss")
    fill_all(admin.site)
    page = open_page("/admin/", user=boss)
    lost = {}
    for model in admin.site._registry:
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        address = reverse(f"admin:{name}_changelist")
        page.goto(page.url.split("/admin/")[0] + address)
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            picture(page, f"{name}-{width}")
            if headers := page.evaluate(LOST):
                lost[name, width] = headers
    assert lost == {}
