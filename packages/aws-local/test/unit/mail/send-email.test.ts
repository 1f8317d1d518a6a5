import { describe, expect, it } from 'vitest';
import { judgeSendEmail } from '../../../src/mail/send-email.ts';

const aRequest = (changes: object = {}) => ({
  FromEmailAddress: 'Notifications <notifications@local.test>',
  Destination: { ToAddresses: ['admin@local.test'] },
  Content: { Simple: { Subject: { Data: 'Hello' }, Body: { Text: { Data: 'Hello.' } } } },
  ...changes,
});
const addresses = (count: number, domain = 'local.test') =>
  Array.from({ length: count }, (_, index) => `a${index}@${domain}`);

describe('a request to send an e-mail', () => {
  it('is a message to all named recipients', () => {
    const Destination = {
      ToAddresses: ['a@local.test'],
      CcAddresses: ['b@local.test'],
      BccAddresses: addresses(48),
    };
    expect(judgeSendEmail(aRequest({ Destination, ReplyToAddresses: ['c@local.test'] }))).toEqual({
      mail: {
        from: 'Notifications <notifications@local.test>',
        to: ['a@local.test'],
        cc: ['b@local.test'],
        bcc: addresses(48),
        replyTo: ['c@local.test'],
        subject: 'Hello',
        text: 'Hello.',
        html: '',
      },
    });
  });

  it.each([
    ['of another form', undefined],
    ['without a sender', aRequest({ FromEmailAddress: undefined })],
    ['without recipients', aRequest({ Destination: {} })],
    ['to more than 50', aRequest({ Destination: { ToAddresses: addresses(51) } })],
    ['to an invalid address', aRequest({ Destination: { ToAddresses: ['admin'] } })],
    [
      'with a line break in an address',
      aRequest({ Destination: { ToAddresses: ['a@b.test\r\nBcc: c@d.test'] } }),
    ],
    ['without a body', aRequest({ Content: { Simple: { Subject: { Data: 'Hello' }, Body: {} } } })],
    ['with a raw message', aRequest({ Content: { Raw: { Data: 'AA==' } } })],
  ])('is refused %s', (_, request) => {
    expect(judgeSendEmail(request)).toMatchObject({ type: 'BadRequestException', status: 400 });
  });

  it('is answered as unavailable where all of its recipients are configured so', () => {
    const to = (...ToAddresses: string[]) => judgeSendEmail(aRequest({ Destination: { ToAddresses } }));
    const unavailable = { type: 'ServiceUnavailable', status: 503 };
    expect(to('a@unavailable.test', 'Ada <b@unavailable.test>')).toMatchObject(unavailable);
    expect(to('a@unavailable.test', 'b@local.test')).toHaveProperty('mail');
    expect(to('a@not-unavailable.test')).toHaveProperty('mail');
  });
});
