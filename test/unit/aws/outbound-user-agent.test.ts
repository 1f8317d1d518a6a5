import { expect, it } from 'vitest';
import { outboundUserAgent } from '../../../functions/aws/config.ts';

it.each([
  [{}, 'ConversationService-Webhooks/1.0'],
  [
    { SENDER_URL: 'https://api.example.com/api/docs' },
    'ConversationService-Webhooks/1.0 (+https://api.example.com/api/docs)',
  ],
  [
    { SENDER_URL: 'https://api.example.com/api/docs', SENDER_CONTACT: 'abuse@example.com' },
    'ConversationService-Webhooks/1.0 (+https://api.example.com/api/docs; abuse@example.com)',
  ],
])('the user agent with %j is %s', (environment, text) => {
  expect(outboundUserAgent('ConversationService-Webhooks', environment)).toBe(text);
});
