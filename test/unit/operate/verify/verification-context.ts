import type { Answer, Call } from '../../../../lib/operate/verify/api.ts';
import { verifyClientsOf } from '../../../../lib/operate/verify/clients.ts';
import type { VerifyContext } from '../../../../lib/operate/verify/context.ts';
import { createRemovals } from '../../../../lib/operate/verify/removals.ts';
import { NOW } from '../../../builders.ts';

/** A port without a listener. */
const NOWHERE = 'http://127.0.0.1:1';

export const anAnswer = (answer: Partial<Answer> = {}): Answer => ({
  call: 'GET /api/v1/webhooks',
  status: 200,
  headers: new Headers({ 'request-id': 'req-1' }),
  text: '',
  body: undefined,
  ...answer,
});

/** An error of the API, as it answers one. */
export const aProblem = (status: number, type: string, requestId = 'req-1'): Answer => {
  const body = { error: { type, message: 'No.', requestId } };
  return anAnswer({ status, body, text: JSON.stringify(body) });
};

/** A context whose clock advances only with its waits. */
export function aContext(
  changes: Partial<VerifyContext> & { answers?: (call: Call) => Answer } = {},
): VerifyContext {
  const { answers = () => anAnswer(), ...others } = changes;
  let time = 0;
  const place = {
    name: 'test',
    region: 'eu-central-1',
    outputs: { EnrolFunctionName: 'conversation-service-prod-enrol', AlarmTopicArn: 'arn:topic' },
    endpoints: { dynamodb: NOWHERE, sqs: NOWHERE, secretsManager: NOWHERE, lambda: NOWHERE, sns: NOWHERE },
    tables: new Map<string, string>(),
    queues: new Map<string, string>(),
    deadLetters: new Map<string, string>(),
    keys: new Map<string, string>(),
  };
  return {
    place,
    clients: verifyClientsOf(place),
    api: async (call) => answers(call),
    token: undefined,
    receiver: undefined,
    waitMs: 5_000,
    removals: createRemovals(),
    made: {},
    now: () => NOW,
    clock: () => time,
    sleep: async (milliseconds) => {
      time += milliseconds;
    },
    ...others,
  };
}
