package sandbox

// routes holds every endpoint of the API.
var routes = map[string]handler{
	"GET account": getAccount,
	"GET balance": getBalance,

	"POST customers":                    createCustomer,
	"GET customers":                     listCustomers,
	"GET customers/:id":                 getCustomer,
	"POST customers/:id":                updateCustomer,
	"DELETE customers/:id":              deleteCustomer,
	"GET customers/:id/subscriptions":   listCustomerSubscriptions,
	"GET customers/:id/payment_methods": listCustomerMethods,
	"GET payment_methods/:id":           getMethod,

	"POST products":     createProduct,
	"GET products":      listProducts,
	"GET products/:id":  getProduct,
	"POST products/:id": updateProduct,

	"POST prices":     createPrice,
	"GET prices":      listPrices,
	"GET prices/:id":  getPrice,
	"POST prices/:id": updatePrice,

	"POST checkout/sessions":               createSession,
	"GET checkout/sessions":                listSessions,
	"GET checkout/sessions/:id":            getSession,
	"POST checkout/sessions/:id/expire":    expireSession,
	"GET checkout/sessions/:id/line_items": listLineItems,

	"POST subscriptions":            createSubscription,
	"GET subscriptions":             listSubscriptions,
	"GET subscriptions/:id":         getSubscription,
	"POST subscriptions/:id":        updateSubscription,
	"DELETE subscriptions/:id":      cancelSubscription,
	"POST subscriptions/:id/resume": resumeSubscription,

	"GET invoices":           listInvoices,
	"GET invoices/:id":       getInvoice,
	"POST invoices/:id/pay":  payInvoice,
	"POST invoices/:id/void": voidInvoice,

	"GET payment_intents":     listIntents,
	"GET payment_intents/:id": getIntent,
	"GET charges":             listCharges,
	"GET charges/:id":         getCharge,

	"POST refunds":     createRefund,
	"GET refunds":      listRefunds,
	"GET refunds/:id":  getRefund,
	"POST refunds/:id": updateRefund,

	"GET disputes":            listDisputes,
	"GET disputes/:id":        getDispute,
	"POST disputes/:id/close": closeDispute,

	"POST billing_portal/configurations":     createConfig,
	"GET billing_portal/configurations":      listConfigs,
	"GET billing_portal/configurations/:id":  getConfig,
	"POST billing_portal/configurations/:id": updateConfig,
	"POST billing_portal/sessions":           createPortal,

	"GET events":     listEvents,
	"GET events/:id": getEvent,

	"POST webhook_endpoints":       createEndpoint,
	"GET webhook_endpoints":        listEndpoints,
	"GET webhook_endpoints/:id":    getEndpoint,
	"POST webhook_endpoints/:id":   updateEndpoint,
	"DELETE webhook_endpoints/:id": deleteEndpoint,
}
