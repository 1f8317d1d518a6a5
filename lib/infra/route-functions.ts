import { Construct } from 'constructs';
import { type RouteKey, routes } from '../../functions/api/routes.ts';
import type {
  ApiEnvironment,
  KnowledgeEnvironment,
  OrganizationEnvironment,
  StatsEnvironment,
  SyncEnvironment,
  UsageEnvironment,
  VisitorEnvironment,
} from '../../functions/aws/config.ts';
import { RATE_LIMITER_FAILURES } from '../../functions/aws/metrics.ts';
import { API_TIMEOUT_SECONDS } from '../../functions/aws/pages.ts';
import type { RetryEnvironment } from '../../functions/delivery/timing.ts';
import { type Route, settingsPath } from '../../functions/http/route.ts';
import { OPERATIONS } from '../openapi/operations.ts';
import { alarmAt, counted } from './alarms.ts';
import { receiverEnvironment } from './egress.ts';
import { accessOf } from './grants/grant.ts';
import type { EnvironmentOf } from './grants/resource.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';
import type { DataStack } from './stacks/data-stack.ts';
import { capitalized } from './stages.ts';

export interface RouteFunctionsProps {
  code: CodeOf;
  data: DataStack;
  settings: Settings;
}

/** Routes that report whether e-mail is configured. */
const SAYS_MAILER: ReadonlySet<RouteKey> = new Set(['readOrganization', 'updateOrganization']);

/** Uncounted requests in five minutes. */
const FAILED_COUNTS = 10;

/** A function per route, with its access to data. */
export class RouteFunctions extends Construct {
  constructor(scope: Construct, id: string, props: RouteFunctionsProps) {
    super(scope, id);
    for (const key of Object.keys(routes) as RouteKey[]) this.addFunction(key, props);
    // Requests pass while the limiter fails, so operators must know.
    alarmAt(this, 'RateLimiterFailing', {
      metric: counted(this, RATE_LIMITER_FAILURES),
      // A deployment's first calls may find the counter's table slow; a counter that is down fails on each
      // call.
      threshold: FAILED_COUNTS,
      periods: 2,
      runbook: 'api.md#the-rate-limiter-cannot-count',
      says: 'The rate limiter cannot count: requests pass without a limit.',
    });
  }

  private addFunction(key: RouteKey, { code, data, settings }: RouteFunctionsProps): void {
    const { tables, cursorKeys, signingKeys, identity } = data;
    const { name, method, path } = routes[key];
    const route: Route = routes[key];
    const takesSessions = route.role !== undefined || settingsPath(route) !== undefined;
    const used = accessOf(name);
    new ServiceFunction(this, capitalized(key), {
      name,
      description: `${method} /api${path}: ${OPERATIONS[key].summary}`,
      code,
      environment: {
        ...({
          SERVICE_TABLE: tables.service,
          OUTBOX_TABLE: tables.outbox,
          DELIVERIES_TABLE: tables.deliveries,
          RATE_TABLE: tables.rates,
          RATE_LIMIT_SANDBOX: String(settings.rateLimits.sandbox),
          RATE_LIMIT_STANDARD: String(settings.rateLimits.standard),
          RATE_LIMIT_SCALE: String(settings.rateLimits.scale),
          RETRY_BASE_SECONDS: String(settings.retryBaseSeconds),
          RETRY_CAP_SECONDS: String(settings.retryCapSeconds),
          ATTEMPT_TIMEOUT_SECONDS: String(settings.attemptTimeoutSeconds),
          CURSOR_KEYS: cursorKeys,
          SIGNING_KEYS: signingKeys,
        } satisfies EnvironmentOf<typeof ApiEnvironment> & EnvironmentOf<typeof RetryEnvironment>),
        ...receiverEnvironment(settings),
        ...(takesSessions ? identity.environment : {}),
        ...(route.visitor &&
          ({
            VISITOR_LIMIT_SANDBOX: String(settings.visitorLimits.sandbox),
            VISITOR_LIMIT_STANDARD: String(settings.visitorLimits.standard),
            VISITOR_LIMIT_SCALE: String(settings.visitorLimits.scale),
          } satisfies EnvironmentOf<typeof VisitorEnvironment>)),
        ...(SAYS_MAILER.has(key) &&
          ({
            MAILER: settings.mailFrom === undefined ? 'off' : 'on',
          } satisfies EnvironmentOf<typeof OrganizationEnvironment>)),
        ...(used.LEDGER_TABLE &&
          ({ LEDGER_TABLE: tables.ledger } satisfies EnvironmentOf<typeof StatsEnvironment>)),
        ...(used.KNOWLEDGE_TABLE &&
          ({ KNOWLEDGE_TABLE: tables.knowledge } satisfies EnvironmentOf<typeof KnowledgeEnvironment>)),
        ...(key === 'syncSource' &&
          ({
            SYNC_COOLDOWN_SECONDS: String(settings.syncCooldownSeconds),
          } satisfies EnvironmentOf<typeof SyncEnvironment>)),
        ...(used.USAGE_TABLE &&
          ({ USAGE_TABLE: tables.usage } satisfies EnvironmentOf<typeof UsageEnvironment>)),
      },
      timeoutSeconds: API_TIMEOUT_SECONDS,
    });
  }
}
