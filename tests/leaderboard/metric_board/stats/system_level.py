from leaderboard.metric_board.stats.system_level import SYSTEM_STATISTICS, system_rows


def system_statistics(human, metric):
    """Give all system-level statistics of one metric, by name."""
    return {
        statistic: float(system_rows(human, metric, statistic))
        for statistic in SYSTEM_STATISTICS
    }
