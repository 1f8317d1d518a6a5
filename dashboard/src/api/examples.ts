import { useMutation } from '@tanstack/react-query';
import { answerTo, api, type Environment } from './client.ts';
import type { EventType } from './event-types.ts';
import { type Key, useIdempotencyKeys } from './idempotency.ts';

/** What a test can send: itself, or an example of a type that endpoints subscribe to. */
export type SentType = EventType | 'webhook.test';

/** Sends an example to one endpoint, once, however often it is requested until it succeeds. */
export function useSendExample(environment: Environment) {
  const keys = useIdempotencyKeys();
  return useMutation({
    mutationFn: async ({ webhookId, type }: { webhookId: string; type: SentType }) => {
      const params = { path: { id: webhookId }, query: { environment } };
      const send = (header: Key) =>
        answerTo(
          api.POST('/api/settings/webhooks/{id}/test', { params: { ...params, header }, body: { type } }),
        );
      return (await keys.once({ webhookId, type }, send)).data;
    },
  });
}
