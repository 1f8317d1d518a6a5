import { isChannelId, type TraceId } from '../aws/ids.ts';
import { ENABLED, type Endpoint, type EndpointChange, pause, RESUMED } from '../receivers/endpoint.ts';
import { createCatchUpJob, createRecoveryJob, type RedeliveryJob } from '../redelivery/jobs.ts';
import { compareFields } from '../tenancy/audit.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { getInactiveRefusals } from './receivers.ts';

/**
 * Plans the change of a receiver's settings, its pause and the end of one, which starts the job that sends
 * what was skipped. Resuming also enables a disabled channel, because conversations name it
 * (docs/decisions/0035-channels-are-receivers.md).
 * @param stopped a job of the channel that a pause or a disabling has stopped
 */
export function planUpdate<
  Receiver extends Pick<Endpoint, 'id' | 'status' | 'pausedAt' | 'failingSince' | 'disabledAt' | 'createdAt'>,
  Settings extends EndpointChange,
>(
  receiver: Receiver,
  { paused, ...settings }: Settings & { paused?: boolean | undefined },
  context: { tenant: Tenant; now: Date; traceId: TraceId },
  stopped?: RedeliveryJob,
) {
  const { id, status, pausedAt } = receiver;
  const isDisabled = status === 'auto_disabled';
  const isEnabled = isDisabled && paused === false && isChannelId(id);
  if (isDisabled && paused !== undefined && !isEnabled) return getInactiveRefusals(id).auto_disabled;
  const isResumed = paused === false && pausedAt !== undefined;
  const isPaused = paused === true && pausedAt === undefined;
  const state = isPaused ? pause(context.now) : isEnabled ? ENABLED : isResumed ? RESUMED : {};
  const given = { ...settings, ...state };
  const updated = { ...receiver, ...given };
  return {
    given,
    updated,
    changes: compareFields([...Object.keys(settings), 'status', 'pausedAt'], receiver, updated),
    job:
      isEnabled || (isResumed && stopped !== undefined)
        ? createRecoveryJob(receiver, stopped, context)
        : isResumed
          ? createCatchUpJob(id, pausedAt, context)
          : undefined,
  };
}
