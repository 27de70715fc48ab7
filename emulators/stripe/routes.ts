import * as account from './account.ts';
import * as balance from './balance.ts';
import type { Call } from './call.ts';
import * as charges from './charges.ts';
import * as customers from './customers.ts';
import * as disputes from './disputes.ts';
import * as events from './events.ts';
import * as intents from './payment-intents.ts';
import * as methods from './payment-methods.ts';
import * as payouts from './payouts.ts';
import * as refunds from './refunds.ts';
import * as reviews from './reviews.ts';
import { search } from './search.ts';
import { type Extra, extended } from './shapes.ts';

/** One call of the API that the emulator supports. */
export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** The name of the request's shape in shapes.schema.json; null when it takes no parameters. */
  shape: string | null;
  /** The parameters, of those in the shape, that have an effect in the emulator. */
  params: readonly string[];
  run: (call: Call) => object;
  /** The parameters that a request with the publishable key may send. When absent, the call needs the secret key. */
  browser?: { params: readonly string[]; extra: Extra };
}

const PAGING = ['ending_before', 'expand', 'limit', 'starting_after'];
const SEARCH = ['expand', 'limit', 'page', 'query'];
const CONFIRM_EXTRA: Extra = {
  client_secret: { type: 'string' },
  payment_method_data: extended('PaymentIntentConfirmParams.PaymentMethodData', methods.CARD_PARAMS),
};
const METHOD_PARAMS = ['allow_redisplay', 'billing_details', 'card', 'expand', 'metadata', 'type'];

/** The parameters that Stripe.js may send when it confirms: none for off-session payments, and none that changes the amount. */
const BROWSER_CONFIRM = [
  'expand',
  'payment_method',
  'payment_method_data',
  'receipt_email',
  'return_url',
  'setup_future_usage',
  'shipping',
  'use_stripe_sdk',
];

type Handler = Route['run'];
const get = (path: string, shape: string | null, params: readonly string[], run: Handler): Route => ({
  method: 'GET',
  path: `/v1/${path}`,
  shape,
  params,
  run,
});
const post = (path: string, shape: string | null, params: readonly string[], run: Handler): Route => ({
  ...get(path, shape, params, run),
  method: 'POST',
});
const remove = (path: string, shape: string | null, run: Handler): Route => ({
  ...get(path, shape, [], run),
  method: 'DELETE',
});
const fromBrowser = (route: Route, params: readonly string[], extra: Extra): Route => ({
  ...route,
  browser: { params, extra },
});

/**
 * Every call that the emulator supports, in the order of the provider's reference. The first path that matches applies, so paths
 * with a literal segment come before those that have a named segment in its place.
 */
export const ROUTES: readonly Route[] = [
  get('account', null, [], account.retrieveAccount),
  get('balance', 'BalanceRetrieveParams', ['expand'], balance.retrieveBalance),
  get(
    'balance_transactions',
    'BalanceTransactionListParams',
    [...PAGING, 'created', 'payout', 'source', 'type'],
    balance.listBalanceTransactions,
  ),
  get(
    'balance_transactions/:id',
    'BalanceTransactionRetrieveParams',
    ['expand'],
    balance.retrieveBalanceTransaction,
  ),

  get(
    'charges',
    'ChargeListParams',
    [...PAGING, 'created', 'customer', 'payment_intent'],
    charges.listCharges,
  ),
  get('charges/:id', 'ChargeRetrieveParams', ['expand'], charges.retrieveCharge),
  post('charges/:id', 'ChargeUpdateParams', ['description', 'expand', 'metadata'], charges.updateCharge),

  post('customers', 'CustomerCreateParams', customers.CREATE_CUSTOMER_PARAMS, customers.createCustomer),
  get('customers', 'CustomerListParams', [...PAGING, 'created', 'email'], customers.listCustomers),
  get('customers/search', 'CustomerSearchParams', SEARCH, (call) =>
    search(call, 'customer', '/v1/customers/search'),
  ),
  get('customers/:id', 'CustomerRetrieveParams', ['expand'], customers.retrieveCustomer),
  post('customers/:id', 'CustomerUpdateParams', customers.CUSTOMER_PARAMS, customers.updateCustomer),
  remove('customers/:id', null, customers.deleteCustomer),
  get(
    'customers/:id/payment_methods',
    'CustomerListPaymentMethodsParams',
    [...PAGING, 'type'],
    methods.listCustomerPaymentMethods,
  ),
  get(
    'customers/:id/payment_methods/:method',
    'CustomerRetrievePaymentMethodParams',
    ['expand'],
    methods.retrieveCustomerPaymentMethod,
  ),

  get(
    'disputes',
    'DisputeListParams',
    [...PAGING, 'charge', 'created', 'payment_intent'],
    disputes.listDisputes,
  ),
  get('disputes/:id', 'DisputeRetrieveParams', ['expand'], disputes.retrieveDispute),
  post('disputes/:id/close', 'DisputeCloseParams', ['expand'], disputes.acceptDispute),

  get(
    'events',
    'EventListParams',
    [...PAGING, 'created', 'delivery_success', 'type', 'types'],
    events.listEvents,
  ),
  get('events/:id', 'EventRetrieveParams', ['expand'], events.retrieveEvent),

  post('payment_intents', 'PaymentIntentCreateParams', intents.CREATE_PARAMS, intents.createPaymentIntent),
  get(
    'payment_intents',
    'PaymentIntentListParams',
    [...PAGING, 'created', 'customer'],
    intents.listPaymentIntents,
  ),
  get('payment_intents/search', 'PaymentIntentSearchParams', SEARCH, (call) =>
    search(call, 'payment_intent', '/v1/payment_intents/search'),
  ),
  fromBrowser(
    get(
      'payment_intents/:id',
      'PaymentIntentRetrieveParams',
      ['client_secret', 'expand'],
      intents.retrievePaymentIntent,
    ),
    ['client_secret', 'expand'],
    {},
  ),
  post(
    'payment_intents/:id',
    'PaymentIntentUpdateParams',
    intents.UPDATE_PARAMS,
    intents.updatePaymentIntent,
  ),
  fromBrowser(
    post(
      'payment_intents/:id/confirm',
      'PaymentIntentConfirmParams',
      intents.CONFIRM_PARAMS,
      intents.confirmPaymentIntent,
    ),
    BROWSER_CONFIRM,
    CONFIRM_EXTRA,
  ),
  post(
    'payment_intents/:id/cancel',
    'PaymentIntentCancelParams',
    ['cancellation_reason', 'expand'],
    intents.cancelPaymentIntent,
  ),

  fromBrowser(
    post('payment_methods', 'PaymentMethodCreateParams', METHOD_PARAMS, methods.createPaymentMethod),
    METHOD_PARAMS,
    methods.CARD_PARAMS,
  ),
  get(
    'payment_methods',
    'PaymentMethodListParams',
    [...PAGING, 'customer', 'type'],
    methods.listPaymentMethods,
  ),
  get('payment_methods/:id', 'PaymentMethodRetrieveParams', ['expand'], methods.retrievePaymentMethod),
  post(
    'payment_methods/:id/attach',
    'PaymentMethodAttachParams',
    ['customer', 'expand'],
    methods.attachPaymentMethod,
  ),
  post('payment_methods/:id/detach', 'PaymentMethodDetachParams', ['expand'], methods.detachPaymentMethod),

  get(
    'payment_method_configurations',
    'PaymentMethodConfigurationListParams',
    PAGING,
    account.listPaymentMethodConfigurations,
  ),
  get(
    'payment_method_configurations/:id',
    'PaymentMethodConfigurationRetrieveParams',
    ['expand'],
    account.retrievePaymentMethodConfiguration,
  ),
  post(
    'payment_method_configurations/:id',
    'PaymentMethodConfigurationUpdateParams',
    ['link', 'expand'],
    account.updatePaymentMethodConfiguration,
  ),

  post(
    'payment_method_domains',
    'PaymentMethodDomainCreateParams',
    ['domain_name', 'enabled', 'expand'],
    account.createPaymentMethodDomain,
  ),
  get(
    'payment_method_domains',
    'PaymentMethodDomainListParams',
    [...PAGING, 'domain_name', 'enabled'],
    account.listPaymentMethodDomains,
  ),
  get(
    'payment_method_domains/:id',
    'PaymentMethodDomainRetrieveParams',
    ['expand'],
    account.retrievePaymentMethodDomain,
  ),
  post(
    'payment_method_domains/:id',
    'PaymentMethodDomainUpdateParams',
    ['enabled', 'expand'],
    account.updatePaymentMethodDomain,
  ),
  post(
    'payment_method_domains/:id/validate',
    'PaymentMethodDomainValidateParams',
    ['expand'],
    account.retrievePaymentMethodDomain,
  ),

  get('payouts', 'PayoutListParams', [...PAGING, 'created', 'status'], payouts.listPayouts),
  get('payouts/:id', 'PayoutRetrieveParams', ['expand'], payouts.retrievePayout),

  post('refunds', 'RefundCreateParams', refunds.REFUND_PARAMS, refunds.createRefund),
  get('refunds', 'RefundListParams', [...PAGING, 'charge', 'created', 'payment_intent'], refunds.listRefunds),
  get('refunds/:id', 'RefundRetrieveParams', ['expand'], refunds.retrieveRefund),
  post('refunds/:id', 'RefundUpdateParams', ['expand', 'metadata'], refunds.updateRefund),

  get('reviews', 'ReviewListParams', [...PAGING, 'created'], reviews.listReviews),
  get('reviews/:id', 'ReviewRetrieveParams', ['expand'], reviews.retrieveReview),
  post('reviews/:id/approve', 'ReviewApproveParams', ['expand'], reviews.approveReview),

  post(
    'webhook_endpoints',
    'WebhookEndpointCreateParams',
    account.WEBHOOK_ENDPOINT_PARAMS,
    account.createWebhookEndpoint,
  ),
  get('webhook_endpoints', 'WebhookEndpointListParams', PAGING, account.listWebhookEndpoints),
  get('webhook_endpoints/:id', 'WebhookEndpointRetrieveParams', ['expand'], account.retrieveWebhookEndpoint),
  post(
    'webhook_endpoints/:id',
    'WebhookEndpointUpdateParams',
    ['description', 'disabled', 'enabled_events', 'expand', 'metadata', 'url'],
    account.updateWebhookEndpoint,
  ),
  remove('webhook_endpoints/:id', 'WebhookEndpointDeleteParams', account.deleteWebhookEndpoint),
];
