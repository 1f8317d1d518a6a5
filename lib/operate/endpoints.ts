import { ago, count, facts, grid, moment } from 'terminal/grid.ts';
import { OrgId, ReceiverId } from '../../functions/aws/ids.ts';
import { deliveryStore } from '../../functions/delivery/rows.ts';
import type { Endpoint } from '../../functions/receivers/endpoint.ts';
import { endpointStore } from '../../functions/receivers/endpoints.ts';
import { readOrganizationState } from '../../functions/tenancy/organizations.ts';
import { type Context, confirmed, type Report, tableOf } from './context.ts';
import { endpointScan, endpointState } from './endpoint-scan.ts';
import { OperateError, UsageError } from './errors.ts';

/** Number of deliveries shown. */
const LAST = 10;

interface Ref {
  orgId: OrgId;
  id: ReceiverId;
}

function parseRef([org, webhook]: readonly string[]): Ref {
  const orgId = OrgId.safeParse(org);
  const id = ReceiverId.safeParse(webhook);
  if (!orgId.success) throw new UsageError(`${org} is no organization: org_ and 32 hex digits.`);
  if (!id.success)
    throw new UsageError(`${webhook} is no endpoint or channel: whk_ or chn_, and 32 hex digits.`);
  return { orgId: orgId.data, id: id.data };
}

async function found(context: Context, { orgId, id }: Ref): Promise<Endpoint> {
  const endpoint = await endpointStore(tableOf(context, 'service')).find(orgId, id);
  if (endpoint === undefined) throw new OperateError(`${orgId} has no ${id}.`);
  return endpoint;
}

/** Removes user, password and query, which may be secret. */
function shownUrl(text: string): string {
  const url = URL.parse(text);
  return url === null ? '–' : `${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`;
}

/** `endpoint show`. */
export async function showEndpoint(context: Context, values: readonly string[]): Promise<Report> {
  const ref = parseRef(values);
  const { paint, now } = context;
  const [endpoint, state] = await Promise.all([
    found(context, ref),
    readOrganizationState(tableOf(context, 'service'))(ref.orgId),
  ]);
  const page = await deliveryStore(tableOf(context, 'deliveries')).list(
    { orgId: ref.orgId, generation: state?.generation ?? 0 },
    ref.id,
    { limit: LAST },
  );
  const deliveries = page.items.map(
    ({ id, eventType, status, attempts, createdAt, nextRetryAt, lastResponseStatus }) => ({
      id,
      eventType,
      status,
      attempts,
      createdAt,
      nextRetryAt,
      lastResponseStatus,
    }),
  );
  const url = shownUrl(endpoint.url);
  const text = [
    facts(
      [
        ['endpoint', endpoint.id],
        ['organization', endpoint.orgId],
        ['url', url],
        ['events', endpoint.events.join(', ')],
        ['status', endpoint.status],
        [
          'disabled',
          endpoint.disabledAt &&
            `${moment(endpoint.disabledAt)}, ${endpoint.disabledReason ?? 'by an operator'}`,
        ],
        [
          'failures',
          `${endpoint.consecutiveFailures} in a row${endpoint.failingSince ? `, since ${moment(endpoint.failingSince)}` : ''}`,
        ],
        ['pace', endpoint.pace?.is],
        ['pace until', endpoint.pace?.until && moment(endpoint.pace.until)],
        ['key version', endpoint.keyVersion],
        ['created', moment(endpoint.createdAt)],
      ],
      paint,
    ),
    '',
    deliveries.length === 0
      ? '  No deliveries.'
      : grid(
          ['delivery', 'event', 'status', 'attempts', 'answer', 'age'],
          deliveries.map((it) => [
            it.id,
            it.eventType,
            paint(
              it.status === 'succeeded' ? 'green' : it.status === 'exhausted' ? 'red' : 'yellow',
              it.status,
            ),
            String(it.attempts),
            String(it.lastResponseStatus ?? '–'),
            ago(new Date(it.createdAt), now()),
          ]),
          paint,
        ),
  ].join('\n');
  return { text, data: { ...endpoint, url, deliveries } };
}

/** `endpoint disable`. */
export async function disableEndpoint(context: Context, values: readonly string[]): Promise<Report> {
  const ref = parseRef(values);
  const endpoint = await found(context, ref);
  if (endpoint.status === 'auto_disabled') return reportUnchanged(context, ref, 'is disabled already');
  if (!confirmed(context, `${ref.id} would be disabled: its open deliveries and later events are skipped`))
    return reportUnchanged(context, ref, 'would be disabled');
  const done = await endpointState(tableOf(context, 'service')).disable(ref.orgId, ref.id, context.now());
  if (!done) throw new OperateError(`${ref.id} was changed meanwhile: check it, and try again.`);
  return reportChange(
    context,
    ref,
    'disabled',
    'Its deliveries are skipped from now on; attempts in progress end. Its admins get no e-mail of this: write to them.',
  );
}

/** `endpoint enable`. */
export async function enableEndpoint(context: Context, values: readonly string[]): Promise<Report> {
  const ref = parseRef(values);
  const endpoint = await found(context, ref);
  if (endpoint.status === 'active') return reportUnchanged(context, ref, 'is active already');
  if (!confirmed(context, `${ref.id} would be enabled, with no failures counted`))
    return reportUnchanged(context, ref, 'would be enabled');
  const done = await endpointState(tableOf(context, 'service')).enable(ref.orgId, ref.id, context.now());
  if (!done) throw new OperateError(`${ref.id} was changed meanwhile: check it, and try again.`);
  return reportChange(
    context,
    ref,
    'enabled',
    'Later events are delivered. What was skipped stays skipped: its organization can resend it (POST …/redeliveries for all, …/redeliver for one).',
  );
}

const reportUnchanged = ({ paint }: Context, ref: Ref, what: string): Report => ({
  text: `  ${paint('yellow', '–')} ${ref.id} ${what}. Nothing was done.`,
  data: { ...ref, changed: false },
});

const reportChange = ({ paint }: Context, ref: Ref, what: string, then: string): Report => ({
  text: `  ${paint('green', '✓')} ${ref.id} is ${what}.\n    ${then}`,
  data: { ...ref, changed: true },
});

/** `endpoint disabled`. */
export async function disabledEndpoints(context: Context): Promise<Report> {
  const { paint, now } = context;
  const endpoints = [];
  let scanned = 0;
  for await (const page of endpointScan(tableOf(context, 'service')).disabled()) {
    endpoints.push(...page.found);
    scanned += page.scanned;
    context.progress(`${count(scanned)} rows, ${count(endpoints.length)} disabled`);
  }
  const rows = endpoints.map(({ orgId, id, disabledAt, disabledReason }) => [
    orgId,
    id,
    disabledAt === undefined ? '–' : ago(new Date(disabledAt), now()),
    disabledReason ?? 'by an operator',
  ]);
  const text =
    rows.length === 0
      ? `  ${paint('green', '✓')} No endpoint is disabled.`
      : grid(['organization', 'endpoint', 'since', 'why'], rows, paint);
  return {
    text: `${text}\n\n  ${paint('dim', `${count(scanned)} rows were read.`)}`,
    data: { scanned, endpoints },
  };
}
