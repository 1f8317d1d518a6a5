import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { type RouteKey, routes } from '../../functions/api/routes.ts';
import type {
  ApiEnvironment,
  KnowledgeEnvironment,
  RetryEnvironment,
  StatsEnvironment,
  UsageEnvironment,
} from '../../functions/platform/config.ts';
import { RATE_LIMITER_FAILURES } from '../../functions/platform/metric-names.ts';
import { type Route, settingsPath } from '../../functions/platform/route.ts';
import { alarmAt, counted } from './alarms.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';
import type { DataStack } from './stacks/data-stack.ts';
import type { TableVerb } from './tables.ts';

export interface RouteFunctionsProps {
  code: CodeOf;
  data: DataStack;
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
  /** Besides the count of the call. */
  rates?: readonly TableVerb[];
  /** How attempts are spaced. */
  retries?: true;
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
  readDeliveryStats: { service: ['list'], deliveries: ['list'], ledger: ['readMany'], retries: true },
  listDeliveries: { deliveries: ['list'], keyrings: ['cursor', 'signing'] },
  readDelivery: { deliveries: ['read'] },
  redeliverDelivery: { service: ['add'], outbox: ['add'], deliveries: ['read', 'add'] },
  startRedelivery: { service: ['add'], outbox: ['add'] },
  listRedeliveries: { service: ['list'], keyrings: ['cursor'] },
  readRedelivery: {},
  stopRedelivery: { service: ['change', 'remove'] },
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
  readSourceChanges: { knowledge: ['read', 'list'] },
  syncSource: { service: ['add'], outbox: ['add'], knowledge: ['read'] },
  provisionSandbox: { service: ['add'] },
  resetSandbox: { service: ['add', 'change'] },
  readSandbox: { service: ['list'] },
  readSession: {},
  readOrganization: {},
  updateOrganization: { service: ['change'] },
  readUsage: { usage: ['list'] },
  createApiKey: { service: ['add'] },
  listApiKeys: { service: ['list'], rates: ['readMany'], keyrings: ['cursor'] },
  revokeApiKey: { service: ['change'] },
};

/** Seconds for one API call. The gateway gives up at 29. */
const API_TIMEOUT = 10;

/** A function for each route of the table, with what it needs of the data. */
export class RouteFunctions extends Construct {
  constructor(scope: Construct, id: string, props: RouteFunctionsProps) {
    super(scope, id);
    for (const key of Object.keys(routes) as RouteKey[]) this.addFunction(key, props);
    // Requests pass while the limiter fails, so somebody has to be told.
    alarmAt(this, 'RateLimiterFailing', {
      metric: counted(this, RATE_LIMITER_FAILURES),
      runbook: 'api.md#the-rate-limiter-cannot-count',
      says: 'The rate limiter cannot count: requests pass without a limit.',
    });
  }

  private addFunction(key: RouteKey, { code, data, settings }: RouteFunctionsProps): void {
    const { tables, cursorKeys, signingKeys, identity } = data;
    const { name, method, path, summary } = routes[key];
    const route: Route = routes[key];
    const takesSessions = route.role !== undefined || settingsPath(route) !== undefined;
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
        ...(takesSessions ? identity.environment : {}),
        ...(needs.ledger ? ({ LEDGER_TABLE: tables.ledger.name } satisfies StatsEnvironment) : {}),
        ...(needs.retries ? retriesOf(settings) : {}),
        ...(needs.knowledge
          ? ({ KNOWLEDGE_TABLE: tables.knowledge.name } satisfies KnowledgeEnvironment)
          : {}),
        ...(needs.usage ? ({ USAGE_TABLE: tables.usage.name } satisfies UsageEnvironment) : {}),
      },
      timeoutSeconds: API_TIMEOUT,
    });

    // Every call is authenticated by a read of the service table, and counted; the use of its key is noted beside the counts.
    tables.rates.allow(fn, 'change', ...(needs.rates ?? []));
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
  }
}

const retriesOf = (settings: Settings): RetryEnvironment => ({
  RETRY_BASE_SECONDS: String(settings.retryBaseSeconds),
  RETRY_CAP_SECONDS: String(settings.retryCapSeconds),
  ATTEMPT_TIMEOUT_SECONDS: String(settings.attemptTimeoutSeconds),
});

const pascal = (key: string): string => key.charAt(0).toUpperCase() + key.slice(1);
