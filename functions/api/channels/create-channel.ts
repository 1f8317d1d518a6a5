import * as z from 'zod/mini';
import { newId } from '../../aws/ids.ts';
import { getCurrentVersion } from '../../aws/keyrings.ts';
import { deriveSigningSecret } from '../../delivery/signature.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { type Channel, HttpChannel, MAX_CHANNELS, toChannelView } from '../../receivers/channels.ts';
import { NEW } from '../../receivers/pace.ts';
import { compareFields } from '../../tenancy/audit.ts';
import { checkReceiver, createUrlProblem } from '../receivers.ts';
import { routeHandler } from '../route-handler.ts';
import { channels, signingKeys } from '../stores.ts';
import * as routes from './routes.ts';

/** The idempotency record stores what the secret is derived from, not the secret. */
const Derivable = z.pick(HttpChannel, { kind: true, id: true, keyVersion: true });

export const handler = routeHandler(
  routes.createChannel,
  async ({ tenant, body, now, effect }) => {
    const receiver = body.kind === 'http' ? await checkReceiver(body.url ?? '', tenant) : undefined;
    if (receiver?.ok === false) return createUrlProblem(receiver);
    const common = {
      id: newId('chn', now),
      orgId: tenant.orgId,
      name: body.name,
      createdAt: now.toISOString(),
    };
    const channel: Channel = receiver
      ? {
          ...common,
          kind: 'http',
          url: receiver.url.href,
          events: [],
          status: 'active',
          consecutiveFailures: 0,
          pace: NEW,
          keyVersion: await signingKeys(getCurrentVersion),
        }
      : { ...common, kind: 'web_widget' };
    return effect(
      success(toChannelView(channel), { location: `/api/v1/channels/${channel.id}` }),
      channels.add(channel),
      { id: channel.id, changes: compareFields(routes.CHANNEL_SETTINGS, undefined, channel) },
      { 'channel-limit': refusals.tooMany('channels', MAX_CHANNELS) },
    );
  },
  {
    async addSecrets(data, { tenant, isReplay }) {
      const derivable = Derivable.safeParse(data);
      if (!derivable.success) return data;
      const { id, keyVersion } = derivable.data;
      // The secret of a deleted channel is of no use any more, and must not be shown again.
      if (isReplay && !(await channels.find(tenant.orgId, id))) return refusals.deletedChannel;
      const secret = await signingKeys((ring) => deriveSigningSecret(ring, keyVersion, id));
      return { ...Object(data), secret };
    },
  },
);
