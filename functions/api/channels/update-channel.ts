import { retryOnConflict } from '../../http/api.ts';
import { invalid, refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { Channel, toChannelView } from '../../receivers/channels.ts';
import { getFailureStatus } from '../../receivers/endpoint.ts';
import { planUpdate } from '../receiver-state.ts';
import { checkReceiver, createUrlProblem } from '../receivers.ts';
import { toRedelivery } from '../redeliveries.ts';
import { routeHandler } from '../route-handler.ts';
import { channels, jobs, startJob } from '../stores.ts';
import * as routes from './routes.ts';

/** Settings of a channel to which messages are sent. */
const SENDING = ['url', 'paused'] as const;
const NOT_SENT = { code: 'not_allowed', message: 'applies to channels of kind http only' } as const;

/**
 * Changes the name or the URL of a channel, but not its secret, and pauses, resumes or enables it
 * (docs/specification.md, Channels).
 */
export const handler = routeHandler(
  routes.updateChannel,
  async ({ tenant, params: { id }, body, now, traceId, effect }) => {
    const receiver = body.url === undefined ? undefined : await checkReceiver(body.url, tenant);
    if (receiver?.ok === false) return createUrlProblem(receiver);
    const settings = { ...body, ...(receiver === undefined ? {} : { url: receiver.url.href }) };
    return retryOnConflict(async (again) => {
      const row = await channels.findToChange(tenant.orgId, id);
      if (row === undefined) return refusals.notFound('channel');
      const channel = Channel.parse(row);
      const refused = channel.kind === 'http' ? [] : SENDING.filter((field) => body[field] !== undefined);
      if (refused.length > 0) return invalid(...refused.map((field) => ({ field, ...NOT_SENT })));
      const stopped = body.paused === false ? await jobs.findStopped(tenant, id) : undefined;
      const plan = planUpdate(toChannelView(channel), settings, { tenant, now, traceId }, stopped);
      if ('kind' in plan) return plan;
      const { given, updated, changes, job } = plan;
      const redelivery = job && toRedelivery(job);
      const reply = success({ ...updated, failing: getFailureStatus(updated), redelivery });
      if (changes.length === 0) return reply;
      return effect(
        reply,
        [channels.buildUpdate(tenant.orgId, id, row, given), ...(job ? startJob(job, now) : [])],
        { id, changes },
        { 'endpoint-changed': again, 'redelivery-running': refusals.redeliveryRunning },
      );
    });
  },
);
