import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { LANE_TABLE, LANES, type QueueVariable } from '../../functions/delivery/lanes.ts';

/** The default environment of functions in tests. They read it when they load. */
export const FUNCTION_ENVIRONMENT = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  METRICS_NAMESPACE: 'ConversationService',
  SERVICE_TABLE: 'service',
  OUTBOX_TABLE: 'outbox',
  DELIVERIES_TABLE: 'deliveries',
  RATE_TABLE: 'rates',
  LEDGER_TABLE: 'ledger',
  KNOWLEDGE_TABLE: 'knowledge',
  USAGE_TABLE: 'usage',
  MAILINGS_TABLE: 'mailings',
  EVENT_BUS: 'bus',
  USER_POOL: 'us-east-1_users',
  MAIL_FROM: 'notifications@example.com',
  MAILER: 'on',
  DASHBOARD_ORIGIN: 'https://dashboard.example.com',
  NOTICE_SECONDS: '86400',
  MAIL_BUDGET: '100',
  MAIL_CEILING: '40000',
  CHECK_EVERY_SECONDS: '3600',
  SYNC_COOLDOWN_SECONDS: '60',
  CHECKS_PER_ORGANIZATION: '5',
  ...(Object.fromEntries(
    LANES.map((lane) => [LANE_TABLE[lane].queue, `https://sqs.us-east-1.amazonaws.com/000000000000/${lane}`]),
  ) as Record<QueueVariable<typeof LANE_TABLE>, string>),
  CHECKS_QUEUE: 'https://sqs.us-east-1.amazonaws.com/000000000000/checks',
  EXTRACT_FUNCTION: 'extract-content',
  REDELIVERIES_QUEUE: 'https://sqs.us-east-1.amazonaws.com/000000000000/redeliveries',
  REDELIVERY_GROUP: '16',
  DEAD_PUBLICATIONS: 'https://sqs.us-east-1.amazonaws.com/000000000000/dead-publications',
  DEAD_FAN_OUTS: 'https://sqs.us-east-1.amazonaws.com/000000000000/dead-fan-outs',
  RETRY_BASE_SECONDS: '30',
  RETRY_CAP_SECONDS: '3600',
  ATTEMPT_TIMEOUT_SECONDS: '10',
  GRACE_SECONDS: '900',
  LINGER_SECONDS: '120',
  RATE_LIMIT_SANDBOX: '60',
  RATE_LIMIT_STANDARD: '600',
  RATE_LIMIT_SCALE: '6000',
  VISITOR_LIMIT_SANDBOX: '60',
  VISITOR_LIMIT_STANDARD: '600',
  VISITOR_LIMIT_SCALE: '6000',
  CURSOR_KEYS: 'cursor-keys',
  SIGNING_KEYS: 'signing-keys',
  OIDC_ISSUER: 'https://issuer.example.com',
  OIDC_AUDIENCE: 'dashboard',
  OIDC_SCOPE: 'openid',
  OIDC_ORGANIZATION_CLAIM: 'custom:organization',
  OIDC_ROLE_CLAIM: 'custom:role',
} as const;

/** A request as the gateway passes it on. */
export const aGatewayEvent = (changes: Partial<APIGatewayProxyEvent>): APIGatewayProxyEvent => ({
  httpMethod: 'POST',
  path: '/api/v1/things',
  resource: '/v1/things',
  headers: {},
  multiValueHeaders: {},
  pathParameters: null,
  queryStringParameters: null,
  multiValueQueryStringParameters: null,
  stageVariables: null,
  body: null,
  isBase64Encoded: false,
  requestContext: {
    ...({} as APIGatewayProxyEvent['requestContext']),
    requestId: randomUUID(),
    extendedRequestId: randomUUID(),
  },
  ...changes,
});

/** Lambda's context of an invocation without a real deadline, for virtual time. */
export const UNTIMED: Context = {
  ...({} as Context),
  functionName: 'a-function',
  awsRequestId: 'invocation-id',
};

/** Lambda's context of an invocation. */
export const INVOCATION: Context = { ...UNTIMED, getRemainingTimeInMillis: () => 10_000 };
