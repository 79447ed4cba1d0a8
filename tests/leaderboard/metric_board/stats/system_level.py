from leaderboard.metric_board.stats.system_level import SYSTEM_STATISTICS, system_rows


def system_statistics(human, metric):
    return {
        statistic: float(system_rows(human, metric, statistic))
        for statistic in SYSTEM_STATISTICS
    }
