// Tells the page around the frame that the work was sent in.
if (document.body.dataset.stored === "yes") parent.postMessage({ genie: "sent" }, "*");
