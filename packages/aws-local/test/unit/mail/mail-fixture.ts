import type { SentMail } from '../../../src/mail/mail.ts';

export const aMail = (changes: Partial<SentMail> = {}): SentMail => ({
  id: '0d4c1a52-6c1f-4a0e-9d3e-5f5f3a1b2c3d',
  at: new Date('2026-11-21T13:27:44.512Z'),
  from: 'notifications@local.test',
  to: ['admin@local.test'],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: 'A source has changed',
  text: 'It has changed.',
  html: '<p>It has changed.</p>',
  ...changes,
});
