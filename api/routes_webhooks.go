package api

var webhookRoutes = []Route{}
