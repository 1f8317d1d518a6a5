import { until } from 'aws-local/test/until.ts';
import type { Environment } from '../../../../../functions/tenancy/tenant.ts';
import type { Service } from '../../../../support/service.ts';
import type { Tenant } from '../../../../support/tenant.ts';
import type { Pair } from '../../place.ts';

/** What the workers behind the bus did for a live organization and its sandbox. */
export interface Background {
  /** The message of an agent to the channel of each. */
  said: Record<Environment, string>;
  /** Waits until the work has ended, as far as that can be read. */
  ended(): Promise<void>;
}

/**
 * Gives both organizations a source, a channel and a message of an agent to it, and gives the sandbox an
 * admin of its own, who must get no e-mail.
 * @param places origins of the URLs of the live organization and of the sandbox
 */
export async function background(
  service: Service,
  { live, sandbox }: Pair,
  places: Record<Environment, string>,
): Promise<Background> {
  await service.session(sandbox.orgId, 'admin');
  const made = await Promise.all([begin(live, places.live), begin(sandbox, places.sandbox)]);
  const [ofLive, ofSandbox] = made;
  return {
    said: { live: ofLive.said, sandbox: ofSandbox.said },
    async ended() {
      await until('the live source to be imported', async () => {
        const { body } = await live.api.get(ofLive.source);
        return body.data?.status === 'ok';
      });
      await until('the message to be with the live channel', async () =>
        (await live.api.all(`${ofLive.channel}/deliveries`)).some(({ status }) => status === 'succeeded'),
      );
    },
  };
}

async function begin({ api, orgId }: Tenant, origin: string) {
  const channel = await created(api, '/api/v1/channels', {
    kind: 'http',
    name: 'Bot',
    url: `${origin}/channel`,
  });
  const source = await created(api, '/api/v1/knowledge/sources', { kind: 'url', url: `${origin}/handbook` });
  const conversation = await created(api, '/api/v1/conversations', {
    channelId: channel.split('/').at(-1),
    externalUserId: 'visitor',
  });
  const said = `An answer to ${orgId}`;
  await created(api, `${conversation}/messages`, { role: 'agent', content: said });
  return { channel, source, said };
}

/**
 * Creates a resource.
 * @returns its path
 */
async function created(api: Tenant['api'], path: string, body: unknown): Promise<string> {
  const answer = await api.post(path, body);
  if (answer.status !== 201)
    throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return `${path}/${answer.body.data?.id}`;
}

/** The usage that an organization is shown, and the accepted conversations and messages in the outbox. */
export async function usageOf(service: Service, { admin, orgId }: Tenant) {
  const { body } = await admin.get('/api/settings/usage?months=2');
  const months: { conversations: number; messages: number }[] = Object(body.data).months ?? [];
  const sum = (of: 'conversations' | 'messages') => months.reduce((total, month) => total + month[of], 0);
  const types = (await service.rows())
    .filter(({ table, item }) => table.includes('Outbox') && item.orgId === orgId)
    .map(({ item }) => item.type);
  const count = (type: string) => types.filter((it) => it === type).length;
  return {
    shown: { conversations: sum('conversations'), messages: sum('messages') },
    accepted: { conversations: count('conversation.created'), messages: count('message.received') },
  };
}
