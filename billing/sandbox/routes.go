package sandbox

// routes holds every endpoint of the API.
var routes = map[string]handler{
	"GET account": getAccount,
	"GET balance": getBalance,

	"POST customers":                    createCustomer,
	"GET customers":                     listCustomers,
	"GET customers/:id":                 get[*customer]("customer"),
	"POST customers/:id":                updateCustomer,
	"DELETE customers/:id":              deleteCustomer,
	"GET customers/:id/subscriptions":   listCustomerSubscriptions,
	"GET customers/:id/payment_methods": listCustomerMethods,
	"GET payment_methods/:id":           get[*method]("PaymentMethod"),

	"POST products":     createProduct,
	"GET products":      listProducts,
	"GET products/:id":  get[*product]("product"),
	"POST products/:id": updateProduct,

	"POST prices":     createPrice,
	"GET prices":      listPrices,
	"GET prices/:id":  get[*price]("price"),
	"POST prices/:id": updatePrice,

	"POST checkout/sessions":               createSession,
	"GET checkout/sessions":                listSessions,
	"GET checkout/sessions/:id":            get[*session]("checkout.session"),
	"POST checkout/sessions/:id/expire":    expireSession,
	"GET checkout/sessions/:id/line_items": listLineItems,

	"POST subscriptions":            createSubscription,
	"GET subscriptions":             listSubscriptions,
	"GET subscriptions/:id":         get[*subscription]("subscription"),
	"POST subscriptions/:id":        updateSubscription,
	"DELETE subscriptions/:id":      cancelSubscription,
	"POST subscriptions/:id/resume": resumeSubscription,

	"GET invoices":           listInvoices,
	"GET invoices/:id":       get[*invoice]("invoice"),
	"POST invoices/:id/pay":  payInvoice,
	"POST invoices/:id/void": voidInvoice,

	"GET payment_intents":     listIntents,
	"GET payment_intents/:id": getIntent,
	"GET charges":             listCharges,
	"GET charges/:id":         get[*charge]("charge"),

	"POST refunds":     createRefund,
	"GET refunds":      listRefunds,
	"GET refunds/:id":  get[*refund]("refund"),
	"POST refunds/:id": updateRefund,

	"GET disputes":            listDisputes,
	"GET disputes/:id":        get[*dispute]("dispute"),
	"POST disputes/:id/close": closeDispute,

	"POST billing_portal/configurations":     createConfig,
	"GET billing_portal/configurations":      listConfigs,
	"GET billing_portal/configurations/:id":  get[*portalConfig]("configuration"),
	"POST billing_portal/configurations/:id": updateConfig,
	"POST billing_portal/sessions":           createPortal,

	"GET events":     listEvents,
	"GET events/:id": get[*event]("event"),

	"POST webhook_endpoints":       createEndpoint,
	"GET webhook_endpoints":        listEndpoints,
	"GET webhook_endpoints/:id":    getEndpoint,
	"POST webhook_endpoints/:id":   updateEndpoint,
	"DELETE webhook_endpoints/:id": deleteEndpoint,
}
