package sandbox

// routes holds every endpoint of the API: those that billing uses, and those through which tests do what an operator
// does in Stripe's dashboard.
var routes = map[string]handler{
	"GET account": getAccount,

	"POST customers":     createCustomer,
	"GET customers":      listCustomers,
	"GET customers/:id":  get[*customer]("customer"),
	"POST customers/:id": updateCustomer,

	"POST products":     createProduct,
	"GET products/:id":  get[*product]("product"),
	"POST products/:id": updateProduct,

	"POST prices":     createPrice,
	"GET prices":      listPrices,
	"POST prices/:id": updatePrice,

	"POST checkout/sessions":            createSession,
	"GET checkout/sessions":             listSessions,
	"GET checkout/sessions/:id":         get[*session]("checkout.session"),
	"POST checkout/sessions/:id/expire": expireSession,

	"POST subscriptions":       createSubscription,
	"GET subscriptions":        listSubscriptions,
	"GET subscriptions/:id":    get[*subscription]("subscription"),
	"POST subscriptions/:id":   updateSubscription,
	"DELETE subscriptions/:id": cancelSubscription,

	"GET invoices":     listInvoices,
	"GET invoices/:id": get[*invoice]("invoice"),
	"GET charges/:id":  get[*charge]("charge"),
	"GET disputes/:id": get[*dispute]("dispute"),

	"POST billing_portal/configurations":     createConfig,
	"GET billing_portal/configurations":      listConfigs,
	"GET billing_portal/configurations/:id":  get[*portalConfig]("configuration"),
	"POST billing_portal/configurations/:id": updateConfig,
	"POST billing_portal/sessions":           createPortal,

	"GET events": listEvents,

	"POST webhook_endpoints":       createEndpoint,
	"GET webhook_endpoints":        listEndpoints,
	"GET webhook_endpoints/:id":    getEndpoint,
	"POST webhook_endpoints/:id":   updateEndpoint,
	"DELETE webhook_endpoints/:id": deleteEndpoint,
}
