import { RemovalPolicy } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type RouteKey, routes } from '../../functions/api/routes.ts';
import type {
  ApiEnvironment,
  KnowledgeEnvironment,
  StatsEnvironment,
  UsageEnvironment,
} from '../../functions/platform/config.ts';
import { RATE_LIMITER_FAILURES } from '../../functions/platform/metric-names.ts';
import type { Route } from '../../functions/platform/route.ts';
import { acknowledge } from './acknowledgements.ts';
import { alarmAt, counted } from './alarms.ts';
import { addGatewayResponses, REQUEST_ID } from './gateway-responses.ts';
import type { Identity } from './identity.ts';
import type { KeyringSecret } from './keyrings.ts';
import { answerOtherMethods } from './other-methods.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';
import type { Tables, TableVerb } from './tables.ts';

export interface ApiProps {
  code: CodeOf;
  tables: Tables;
  cursorKeys: KeyringSecret;
  signingKeys: KeyringSecret;
  identity: Identity;
  settings: Settings;
}

/** What a route's function needs beyond authentication; a route without an entry does not compile. */
interface Needs {
  service?: readonly TableVerb[];
  outbox?: readonly TableVerb[];
  deliveries?: readonly TableVerb[];
  ledger?: readonly TableVerb[];
  usage?: readonly TableVerb[];
  knowledge?: readonly TableVerb[];
  keyrings?: readonly ('cursor' | 'signing')[];
}

const NEEDS: Record<RouteKey, Needs> = {
  registerWebhook: { service: ['add', 'change'], keyrings: ['signing'] },
  listWebhooks: { service: ['list'], keyrings: ['cursor'] },
  readWebhook: {},
  updateWebhook: { service: ['change'] },
  deleteWebhook: { service: ['remove', 'change'] },
  testWebhook: { service: ['add'], outbox: ['add'] },
  readWebhookStats: { ledger: ['readMany'] },
  listDeliveries: { deliveries: ['list'], keyrings: ['cursor', 'signing'] },
  readDelivery: { deliveries: ['read'] },
  redeliverDelivery: { service: ['add'], outbox: ['add'], deliveries: ['read', 'add'] },
  createConversation: { service: ['add'], outbox: ['add'] },
  listConversations: { service: ['list'], keyrings: ['cursor'] },
  readConversation: {},
  createMessage: { service: ['add', 'change'], outbox: ['add'] },
  listMessages: { service: ['list'], keyrings: ['cursor'] },
  readMessage: {},
  requestHandoff: { service: ['add', 'change'], outbox: ['add'] },
  listEscalations: { service: ['list'], keyrings: ['cursor'] },
  readEscalation: {},
  resolveConversation: { service: ['add', 'change'], outbox: ['add'] },
  createChannel: { service: ['add', 'change'], keyrings: ['signing'] },
  listChannels: { service: ['list'], keyrings: ['cursor'] },
  readChannel: {},
  deleteChannel: { service: ['remove', 'change'] },
  listChannelDeliveries: { deliveries: ['list'], keyrings: ['cursor', 'signing'] },
  readChannelDelivery: { deliveries: ['read'] },
  createVisitorToken: { service: ['add'], keyrings: ['cursor'] },
  readWidgetMessages: { service: ['list'], keyrings: ['cursor'] },
  createTicket: { service: ['add'], outbox: ['add'] },
  listTickets: { service: ['list'], keyrings: ['cursor'] },
  readTicket: {},
  createSource: { service: ['add'], outbox: ['add'], knowledge: ['add', 'change'] },
  listSources: { knowledge: ['list'], keyrings: ['cursor'] },
  readSource: { knowledge: ['read'] },
  deleteSource: { outbox: ['add'], knowledge: ['remove', 'change'] },
  syncSource: { service: ['add'], outbox: ['add'], knowledge: ['read'] },
  provisionSandbox: { service: ['add'] },
  resetSandbox: { service: ['add', 'change'] },
  readSandbox: { service: ['list'] },
  readOrganization: {},
  updateOrganization: { service: ['change'] },
  readUsage: { usage: ['list'] },
  createApiKey: { service: ['add'] },
  listApiKeys: { service: ['list'], keyrings: ['cursor'] },
  revokeApiKey: { service: ['change'] },
};

/** Seconds for one API call. The gateway gives up at 29. */
const API_TIMEOUT = 10;

/** The public API: a gateway method and a function for each route of the table. */
export class Api extends Construct {
  readonly rest: apigateway.RestApi;
  readonly functions = new Map<RouteKey, ServiceFunction>();

  constructor(scope: Construct, id: string, props: ApiProps) {
    super(scope, id);
    const accessLog = new logs.LogGroup(this, 'AccessLog', {
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.rest = new apigateway.RestApi(this, 'Rest', {
      restApiName: 'Conversation Service API',
      endpointTypes: [apigateway.EndpointType.REGIONAL],
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.DESTROY,
      deployOptions: {
        // The stage is the first part of the public path, so it is a part of /api/v1 with and without a custom domain.
        stageName: 'api',
        accessLogDestination: new apigateway.LogGroupLogDestination(accessLog),
        accessLogFormat: apigateway.AccessLogFormat.custom(ACCESS_LOG),
        loggingLevel: apigateway.MethodLoggingLevel.ERROR,
      },
    });
    addGatewayResponses(this.rest);
    acknowledge(this.rest, {
      APIG2:
        'Requests are validated in the functions, by the schemas that the route table declares; the gateway could not name the field at fault in our envelope.',
      APIG3:
        'Web ACLs are for the account that deploys to choose; the stage takes one that is associated with it.',
      APIG4:
        'Every route but the documentation authenticates an API key in its function, before anything else, by a digest that no gateway authorizer could look up without a function more.',
      COG4: 'Sessions are verified in the functions, as API keys are: the answers name what is missing in our envelope, and any OpenID Connect issuer can take the place of the user pool.',
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
        "The gateway's own role to write logs, for which AWS gives this policy; the account has one such role.",
    });

    for (const key of Object.keys(routes) as RouteKey[]) this.addRoute(key, props);
    answerOtherMethods(this.rest, Object.values(routes));
    this.watchRateLimiter();
  }

  private addRoute(key: RouteKey, props: ApiProps): void {
    const { code, tables, cursorKeys, signingKeys, identity, settings } = props;
    const { name, method, path, summary } = routes[key];
    const { role }: Route = routes[key];
    const environment = {
      SERVICE_TABLE: tables.service.name,
      OUTBOX_TABLE: tables.outbox.name,
      DELIVERIES_TABLE: tables.deliveries.name,
      RATE_TABLE: tables.rates.name,
      RATE_LIMIT_SANDBOX: String(settings.rateLimits.sandbox),
      RATE_LIMIT_STANDARD: String(settings.rateLimits.standard),
      RATE_LIMIT_SCALE: String(settings.rateLimits.scale),
      CURSOR_KEYS: cursorKeys.arn,
      SIGNING_KEYS: signingKeys.arn,
    } satisfies ApiEnvironment;
    const needs = NEEDS[key];
    const fn = new ServiceFunction(this, pascal(key), {
      name,
      description: `${method} /api${path}: ${summary}`,
      code,
      environment: {
        ...environment,
        ...(role === undefined ? {} : identity.environment),
        ...(needs.ledger ? ({ LEDGER_TABLE: tables.ledger.name } satisfies StatsEnvironment) : {}),
        ...(needs.knowledge
          ? ({ KNOWLEDGE_TABLE: tables.knowledge.name } satisfies KnowledgeEnvironment)
          : {}),
        ...(needs.usage ? ({ USAGE_TABLE: tables.usage.name } satisfies UsageEnvironment) : {}),
      },
      timeoutSeconds: API_TIMEOUT,
    });

    // Every call is authenticated by a read of the service table, and counted.
    tables.rates.allow(fn, 'change');
    tables.service.allow(fn, 'read', ...(needs.service ?? []));
    if (needs.outbox) tables.outbox.allow(fn, ...needs.outbox);
    if (needs.deliveries) tables.deliveries.allow(fn, ...needs.deliveries);
    if (needs.ledger) tables.ledger.allow(fn, ...needs.ledger);
    if (needs.usage) tables.usage.allow(fn, ...needs.usage);
    if (needs.knowledge) tables.knowledge.allow(fn, ...needs.knowledge);
    const keyrings: Record<string, { allowRead(grantee: IGrantable): void }> = {
      cursor: cursorKeys,
      signing: signingKeys,
    };
    for (const keyring of needs.keyrings ?? []) keyrings[keyring]?.allowRead(fn);

    this.rest.root
      .resourceForPath(path)
      .addMethod(method, new apigateway.LambdaIntegration(fn, { allowTestInvoke: false }));
    this.functions.set(key, fn);
  }

  /** Requests pass while the limiter fails, so somebody has to be told. */
  private watchRateLimiter(): void {
    alarmAt(this, 'RateLimiterFailing', {
      metric: counted(RATE_LIMITER_FAILURES),
      says: 'The rate limiter cannot count: requests pass without a limit.',
    });
  }
}

const ACCESS_LOG = JSON.stringify({
  requestId: `$${REQUEST_ID}`,
  time: '$context.requestTime',
  method: '$context.httpMethod',
  path: '$context.resourcePath',
  status: '$context.status',
  latencyMs: '$context.responseLatency',
  integrationLatencyMs: '$context.integrationLatency',
  bytes: '$context.responseLength',
  sourceIp: '$context.identity.sourceIp',
});

const pascal = (key: string): string => key.charAt(0).toUpperCase() + key.slice(1);
