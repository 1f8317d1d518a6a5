import { until } from 'aws-local/test/until.ts';
import { aTenant, type Tenant } from '../../support/tenant.ts';
import type { WatchedRun } from './watched-run.ts';

/** An organization with one endpoint and one conversation. */
export interface Sender {
  tenant: Tenant;
  /** Records a message, which is an event for the endpoint. */
  post(): Promise<void>;
  /** Lists the conversation's messages. */
  read(): Promise<void>;
  /** Waits until so many deliveries have ended. */
  ended(count: number): Promise<void>;
}

/** Text of the messages. */
export const CONTENT = 'A message of some length, as people write them. '.repeat(4);

/** @param url of the endpoint's receiver */
export async function aSender({ service }: WatchedRun, url: string): Promise<Sender> {
  const tenant = await aTenant(service);
  const { id } = await tenant.api.register(url, ['message.received']);
  const path = `/api/v1/conversations/${await tenant.api.createConversation()}/messages`;
  const expectStatus = async (expected: number, call: Promise<{ status: number }>) => {
    const { status } = await call;
    if (status !== expected) throw new Error(`${path} was answered with ${status}`);
  };
  return {
    tenant,
    post: () => expectStatus(201, tenant.api.post(path, { role: 'user', content: CONTENT })),
    read: () => expectStatus(200, tenant.api.get(path)),
    ended: (count) =>
      until(
        `${count} deliveries to end`,
        async () => {
          const all = await tenant.api.all(`/api/v1/webhooks/${id}/deliveries`);
          return all.filter(({ terminalAt }) => terminalAt !== null).length >= count;
        },
        900_000,
      ).then(() => undefined),
  };
}
