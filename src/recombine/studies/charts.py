def supports_figures(table, order, metric):
    return []
