import { ago, grid } from 'terminal/grid.ts';
import {
  BLOCKED_HOSTS_FRESH_SECONDS,
  blockedHostStore,
  getHost,
  isLoopbackHost,
  isPublicAddress,
  isPublicHostName,
} from '../../functions/receivers/receiver-url.ts';
import { type Context, confirmed, type Report, tableOf } from './context.ts';
import { UsageError } from './errors.ts';

const openStore = (context: Context) => blockedHostStore(tableOf(context, 'service'));

/**
 * Parses an operator's input into the form in which hosts are compared. Undefined when it cannot be a
 * receiver's host.
 */
export function parseHost(text: string): string | undefined {
  const literal = text.includes(':') && !text.startsWith('[') ? `[${text}]` : text;
  if (/[\s/?#@\\]/.test(literal)) return undefined;
  const url = URL.parse(`https://${literal}`);
  if (url === null || url.port !== '') return undefined;
  const host = getHost(url);
  return isPublicHostName(host) || isPublicAddress(host) || isLoopbackHost(host) ? host : undefined;
}

/** @throws UsageError when it is neither a host name nor an address that a receiver could have */
function requireHost([text = '']: readonly string[]): string {
  const host = parseHost(text);
  if (host === undefined)
    throw new UsageError(
      `${text} is no public host name or address: name the host alone, without a path or port.`,
    );
  return host;
}

/** `host list`. */
export async function listHosts(context: Context): Promise<Report> {
  const { paint, now } = context;
  const hosts = await openStore(context).all();
  const rows = hosts.map(({ host, blockedAt, reason }) => [
    host,
    ago(new Date(blockedAt), now()),
    reason ?? '–',
  ]);
  return {
    text:
      rows.length === 0
        ? `  ${paint('green', '✓')} No host is blocked.`
        : grid(['host and its subdomains', 'since', 'why'], rows, paint),
    data: { hosts },
  };
}

/** `host block`. */
export async function blockHost(context: Context, values: readonly string[]): Promise<Report> {
  const host = requireHost(values);
  const { reason } = context.flags;
  if (!confirmed(context, `${host} and its subdomains would be blocked: nothing would be sent to them`))
    return reportUnchanged(context, host, 'would be blocked');
  const blockedAt = context.now().toISOString();
  await openStore(context).block({ host, blockedAt, ...(reason === undefined ? {} : { reason }) });
  return reportChange(
    context,
    host,
    'blocked',
    `Within ${BLOCKED_HOSTS_FRESH_SECONDS} seconds nothing more is sent there: attempts fail and say so, and no endpoint, channel or source is registered there.`,
  );
}

/** `host unblock`. */
export async function unblockHost(context: Context, values: readonly string[]): Promise<Report> {
  const host = requireHost(values);
  const store = openStore(context);
  if (!(await store.all()).some((blocked) => blocked.host === host))
    return reportUnchanged(context, host, 'is not blocked');
  if (!confirmed(context, `${host} would be unblocked`))
    return reportUnchanged(context, host, 'would be unblocked');
  await store.unblock(host);
  return reportChange(
    context,
    host,
    'unblocked',
    `Within ${BLOCKED_HOSTS_FRESH_SECONDS} seconds deliveries are attempted again. Exhausted ones can be resent by their organizations; endpoints that were disabled meanwhile stay so.`,
  );
}

const reportUnchanged = ({ paint }: Context, host: string, what: string): Report => ({
  text: `  ${paint('yellow', '–')} ${host} ${what}. Nothing was done.`,
  data: { host, changed: false },
});

const reportChange = ({ paint }: Context, host: string, what: string, then: string): Report => ({
  text: `  ${paint('green', '✓')} ${host} is ${what}.\n    ${then}`,
  data: { host, changed: true },
});
