import { MAX_SOURCES } from '../../../../functions/knowledge/sources.ts';
import { MAX_CHANNELS } from '../../../../functions/receivers/channels.ts';
import { MAX_ENDPOINTS } from '../../../../functions/receivers/endpoint.ts';
import { type Operation, successOf } from '../../../fuzz/document.ts';
import type { Connection, Sent } from '../../../support/exchange.ts';
import { PROVOKED_WITH_FAULTS } from '../../../support/provoked-with-faults.ts';
import { aVisitor, filled, once, unfinishedDelivery } from '../../../support/resources.ts';
import type { Service } from '../../../support/service.ts';
import { aTenant, type Tenant } from '../../../support/tenant.ts';
import { useUp } from '../../../support/use-up.ts';
import { credentialOf, ID_DIGITS, NOBODYS, validRequest, withBody, withHeaders } from './requests.ts';

/** What a provocation can use. */
export interface Scene {
  operation: Operation;
  tenant: Tenant;
  service: Service;
  connection: Connection;
  /** Credentials of organizations whose budget of the minute is used up, by the kind of caller. */
  poor: Map<Operation['caller'], Promise<Tenant>>;
  /** A request that succeeds. */
  valid(): Promise<Sent>;
}

/** Error types whose requests change nothing, so that all of them may name the same resources. */
export const CHANGES_NOTHING: ReadonlySet<string> = new Set([
  'AUTHENTICATION_ERROR',
  'NOT_FOUND',
  'PAYLOAD_TOO_LARGE',
  'PERMISSION_DENIED',
  'RATE_LIMITED',
  'SANDBOX_NOT_PROVISIONED',
  'UNSUPPORTED_MEDIA_TYPE',
  'VALIDATION_ERROR',
]);

/**
 * Prepares state and returns requests that must each be refused with the error type; none where the operation
 * cannot cause it.
 */
type Provocation = (scene: Scene) => Promise<Sent[]>;

const LARGE = JSON.stringify({ pad: 'x'.repeat(256 * 1024) });

/** Provocations by error type. */
const PROVOCATIONS: Readonly<Record<string, Provocation>> = {
  AUTHENTICATION_ERROR: async ({ operation, tenant, valid }) => {
    const sent = await valid();
    const right = await credentialOf(operation, tenant);
    const wrong = [undefined, 'Bearer', `Basic ${right}`, `Bearer ${right}x`, 'Bearer x.y.z'];
    const others = { key: [tenant.session], session: [], visitor: [tenant.session, tenant.key] };
    return [...wrong, ...others[operation.caller].map((other) => `Bearer ${other}`)].map((Authorization) =>
      withHeaders(sent, { Authorization }),
    );
  },

  PERMISSION_DENIED: async ({ operation, tenant, service, valid }) => {
    const sent = await valid();
    const credentials =
      operation.caller === 'key'
        ? [await keyWithout(operation.needs, tenant)]
        : [
            tenant.key,
            ...(operation.needs === 'admin'
              ? [await once(tenant, 'a member', () => service.session(tenant.orgId, 'member'))]
              : []),
          ];
    return credentials.map((credential) => withHeaders(sent, { Authorization: `Bearer ${credential}` }));
  },

  NOT_FOUND: async ({ operation, service, valid }) => {
    const sent = await valid();
    if (operation.firstId === 'readSandbox') return [await withoutSandbox(sent, service)];
    if (operation.caller === 'visitor') return [await withoutConversation(sent, service)];
    const replaced = operation.path.includes('{') ? ('target' as const) : ('body' as const);
    const text = sent[replaced] ?? '';
    const ids = [...text.matchAll(ID_DIGITS)].map(({ index }) => index);
    const unknown = ids.map((at) => text.slice(0, at) + NOBODYS + text.slice(at + NOBODYS.length));
    const malformed = replaced === 'target' ? ids.map((at) => text.slice(0, at) + text.slice(at + 1)) : [];
    return [...unknown, ...malformed].map((changed) => ({ ...sent, [replaced]: changed }));
  },

  VALIDATION_ERROR: async ({ operation, valid }) => {
    const sent = await valid();
    const { parameters, body, method } = operation;
    const bodies = [
      ...(['POST', 'PATCH'].includes(method) ? ['{', "{'a':1}", '\0'] : []),
      ...(body ? ['[]', 'null', '7'] : []),
    ];
    const queries = [
      ...parameters.flatMap(({ name }) => BAD_PARAMETERS[name] ?? []),
      'unknown=1',
      ...parameters.filter((one) => one.in === 'query').map(({ name }) => `${name}=1&${name}=2`),
    ];
    const unknownField = body ? [changeBody(sent.body, { unknownField: 1 })] : [];
    const key = parameters.find(({ name }) => name === 'Idempotency-Key');
    const keys = key ? ['once', '', ...(key.required ? [undefined] : [])] : [];
    return [
      ...[...bodies, ...unknownField].map((text) => withBody(sent, text)),
      { ...sent, headers: [...sent.headers, ['Authorization', 'Bearer another'] as const] },
      ...queries.map((query) => ({ ...sent, target: `${sent.target}?${query}` })),
      ...keys.map((value) => withHeaders(sent, { 'Idempotency-Key': value })),
    ];
  },

  PAYLOAD_TOO_LARGE: async ({ valid }) => [withBody(await valid(), LARGE)],

  UNSUPPORTED_MEDIA_TYPE: async ({ valid }) => {
    const sent = await valid();
    return ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'].map((type) =>
      withBody(sent, sent.body ?? '{}', type),
    );
  },

  IDEMPOTENCY_KEY_REUSED: async ({ operation, connection, valid }) => {
    const first = await valid();
    const { status } = await connection.send(first);
    if (status !== successOf(operation)) throw new Error(`the first request was answered ${status}`);
    const key = first.headers.find(([name]) => name === 'Idempotency-Key')?.[1];
    // A visitor's key counts for the conversation of the token.
    const other = operation.caller === 'visitor' ? first : await valid();
    // Where the path is the same, the bodies must differ.
    const body = other.target === first.target ? { body: changeText(first.body) } : {};
    return [{ ...withHeaders(other, { 'Idempotency-Key': key }), ...body }];
  },

  LIMIT_EXCEEDED: async ({ operation, service, connection }) => {
    const full = await aTenant(service);
    const sent = await validRequest(operation, full);
    if (operation.firstId === 'updateWebhook') {
      const url = 'https://receiver.example.com/';
      await Promise.all(Array.from({ length: 10 }, () => full.api.register(url, ['ticket.created'])));
      full.close();
      return [withBody(sent, JSON.stringify({ url }))];
    }
    await connection.send(await validRequest(operation, full));
    await fillUp(operation, service, full);
    full.close();
    return [sent];
  },

  GONE: async ({ operation, tenant, connection, valid }) => {
    const sent = await valid();
    const { text } = await connection.send(sent);
    const { id } = JSON.parse(text).data ?? {};
    const path =
      operation.firstId === 'createChannel'
        ? `channels/${id}`
        : operation.firstId === 'registerWebhook'
          ? `webhooks/${id}`
          : `conversations/${[id, sent.target, sent.body].join(' ').match(/cnv_\w+/)}`;
    await tenant.api.call({ method: 'DELETE', path: `/api/v1/${path}` });
    return [sent];
  },

  RATE_LIMITED: async (scene) => {
    const sent = await scene.valid();
    return [withHeaders(sent, { Authorization: `Bearer ${await useUpCredential(scene)}` })];
  },

  SANDBOX_NOT_PROVISIONED: async ({ operation, service, valid }) => {
    const sent = await valid();
    const takesEnvironment = operation.parameters.some(({ name }) => name === 'environment');
    const target = takesEnvironment ? `${sent.target}?environment=sandbox` : sent.target;
    return [await withoutSandbox({ ...sent, target }, service)];
  },

  CONFLICT: async ({ operation, tenant, service, valid }) => {
    const sent = await valid();
    switch (operation.firstId) {
      case 'requestHandoff':
        await tenant.api.post(sent.target.replace(/handoff$/, 'resolve'));
        return [sent];
      case 'testWebhook':
      case 'testChannel':
        await disable(service, tenant, sent);
        return [sent];
      case 'createVisitorToken':
        // On a channel that is only a label.
        return [
          {
            ...sent,
            target: `${await filled(tenant, '/api/v1/conversations/{id}')}/visitor-token`,
          },
        ];
      case 'retryDelivery':
        return [
          {
            ...sent,
            target: `${sameDoor(await filled(tenant, `/api/v1/webhooks/{id}/deliveries/{deliveryId}`), sent)}/retry`,
          },
        ];
      case 'redeliverDelivery':
        return [{ ...sent, target: `${sameDoor(await unfinishedDelivery(tenant), sent)}/redeliver` }];
      case 'startRedelivery':
      case 'startChannelRedelivery':
        await disable(service, tenant, sent);
        return [sent];
      default:
        return [];
    }
  },
};

const BAD_PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  limit: ['limit=ten', 'limit=1.5', 'limit=0x10'],
  hours: ['hours=ten', 'hours=1.5', 'hours=0x10'],
  months: ['months=ten', 'months=1.5', 'months=0x10'],
  cursor: ['cursor=', 'cursor=e30', 'cursor=%00'],
  status: ['status=', 'status=failed', 'status=exhausted,', 'status=__proto__'],
  eventType: ['eventType=', 'eventType=ticket', 'eventType=ticket.created%20'],
  from: ['from=', 'from=yesterday', 'from=2026-11-20'],
  to: ['to=', 'to=0', 'to=2026-02-30T00:00:00Z'],
  environment: ['environment=', 'environment=LIVE', 'environment=test', 'environment=__proto__'],
  type: ['type=', 'type=ticket', 'type=ticket.created%20'],
  action: ['action=', 'action=webhook', 'action=webhook.created%20'],
  actorType: ['actorType=', 'actorType=admin', 'actorType=__proto__'],
  actorId: ['actorId=', `actorId=${'x'.repeat(256)}`],
  order: ['order=', 'order=newest', 'order=ASC'],
  ids: ['ids=', 'ids=evt_1', 'ids=,'],
  include: ['include=', 'include=requests', 'include=request,request', 'include=__proto__'],
};

/**
 * Requests that must be refused with an error type which the operation documents.
 * @throws Error when there are none and no other test covers the type
 */
export async function provoke(type: string, scene: Scene): Promise<Sent[]> {
  const sent = (await PROVOCATIONS[type]?.(scene)) ?? [];
  if (sent.length === 0 && !PROVOKED_WITH_FAULTS.includes(type))
    throw new Error(
      `${scene.operation.id} documents ${type}, and nothing provokes it: add that to provocations.ts`,
    );
  return sent;
}

/** The sort key, the attribute and the limit of counted resources. */
const COUNTS: Readonly<Record<string, readonly [sk: string, things: string, limit: number]>> = {
  createChannel: ['channel-count', 'channels', MAX_CHANNELS],
  createSource: ['source-count', 'sources', MAX_SOURCES],
  registerWebhook: ['endpoint-count', 'endpoints', MAX_ENDPOINTS],
};

/** Sets a tenant's count of what the operation creates to the limit, since creating that many takes long. */
async function fillUp({ firstId }: Operation, service: Service, { orgId }: Tenant): Promise<void> {
  const [sk, things, limit] = COUNTS[firstId] ?? [];
  const row = (await service.rows([orgId])).find(
    ({ item }) => item.sk === sk && String(item.pk).startsWith(orgId),
  );
  if (row === undefined || things === undefined) throw new Error(`${firstId} counts nothing of ${orgId}`);
  await service.rewrite({ ...row, item: { ...row.item, [things]: limit } });
}

/** Disables the endpoint or channel of a request, as failures would. */
async function disable(service: Service, { orgId }: Tenant, { target }: Sent): Promise<void> {
  const row = (await service.rows([orgId])).find(
    ({ item }) => typeof item.sk === 'string' && /^(?:whk|chn)_/.test(item.sk) && target.includes(item.sk),
  );
  if (row === undefined) throw new Error(`the receiver of ${target} is nowhere`);
  await service.rewrite({ ...row, item: { ...row.item, status: 'auto_disabled' } });
}

/** The path of the same resource for keys. */
const sameDoor = (path: string, { target }: Sent): string =>
  target.startsWith('/api/settings/') ? path.replace('/api/v1/', '/api/settings/') : path;

/** The request by an admin of an organization without a sandbox. */
async function withoutSandbox(sent: Sent, service: Service): Promise<Sent> {
  const { orgId } = await service.enrol();
  return withHeaders(sent, { Authorization: `Bearer ${await service.session(orgId, 'admin')}` });
}

/** The request by the visitor of a conversation that was deleted. */
async function withoutConversation(sent: Sent, service: Service): Promise<Sent> {
  const tenant = await aTenant(service);
  const token = await aVisitor(tenant);
  for (const row of await service.rows([`${tenant.orgId}#`]))
    if (/^cnv_/.test(String(row.item.sk))) await service.remove(row);
  return withHeaders(sent, { Authorization: `Bearer ${token}` });
}

/** A key of the same organization with every scope except the required one. */
const keyWithout = (scope: string, tenant: Tenant): Promise<string> =>
  once(tenant, `a key without ${scope}`, async () => {
    const [, resource] = scope.split(':');
    const scopes = ['webhooks', 'conversations', 'knowledge']
      .filter((other) => other !== resource)
      .map((other) => `write:${other}`);
    // A `write:` scope implies the `read:` scope.
    if (scope.startsWith('write:')) scopes.push(scope.replace('write:', 'read:'));
    const { status, body } = await tenant.admin.post('/api/settings/api-keys', { name: 'Limited', scopes });
    if (status !== 201) throw new Error(`no key could be made: ${status} ${JSON.stringify(body)}`);
    return String(body.data?.secretOnce);
  });

const NAMES_SOMETHING = /^[a-z]{3}_[0-9a-f]{32}$/;

const changeBody = (body: string | undefined, change: object): string =>
  JSON.stringify({ ...JSON.parse(body ?? '{}'), ...change });

/** Appends to the last text field of the body; the first one may be a discriminator. */
function changeText(body = '{}'): string {
  const value: Record<string, unknown> = JSON.parse(body);
  const name = Object.keys(value).findLast(
    (key) => typeof value[key] === 'string' && !NAMES_SOMETHING.test(String(value[key])),
  );
  if (name === undefined) throw new Error(`no field of ${body} can differ`);
  return JSON.stringify({ ...value, [name]: `${value[name]}x` });
}

/** What is counted together with the calls of a caller, as named in the keys of its rate windows. */
const BUDGETS: Readonly<Record<Operation['caller'], string>> = {
  key: '#live#',
  session: '#dashboard#',
  visitor: '#visitor/',
};

/** A credential of an organization whose budget is used up for some time. */
async function useUpCredential({ operation, service, connection, poor }: Scene): Promise<string> {
  const { caller } = operation;
  const cached = poor.get(caller) ?? aTenant(service, { tier: 'standard' });
  poor.set(caller, cached);
  const { orgId } = await cached;
  const credential = await credentialOf({ caller }, await cached);
  const targets = {
    key: '/api/v1/webhooks',
    session: '/api/settings/organization',
    visitor: '/api/v1/widget/messages',
  };
  const request = {
    method: 'GET',
    target: targets[caller],
    headers: [['Authorization', `Bearer ${credential}`] as const],
  };
  const isMessage = operation.id === 'createWidgetMessage';
  await useUp(
    service,
    () => connection.send(isMessage ? { ...request, method: 'POST' } : request),
    `${orgId}${isMessage ? '#visitor-writes/' : BUDGETS[caller]}`,
    5,
  );
  return credential;
}
