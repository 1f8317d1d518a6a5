import { randomUUID } from 'node:crypto';
import type { Engine } from '../engines/engine.ts';
import { failure, startJsonService, success } from '../engines/json-service.ts';
import type { Mailbox } from './mailbox.ts';
import { judgeSendEmail } from './send-email.ts';

/** Starts an SES (API version 2) with `SendEmail`, which only stores messages in the mailbox. */
export const startMailService = (mailbox: Pick<Mailbox, 'add'>): Promise<Engine> =>
  startJsonService(async ({ method, path, body }) => {
    if (method !== 'POST' || path !== '/v2/email/outbound-emails')
      return failure('NotFoundException', `The local SES does not know ${method} ${path}`, 404);
    const judged = judgeSendEmail(body);
    if (!('mail' in judged)) return failure(judged.type, judged.message, judged.status);
    const id = randomUUID();
    await mailbox.add({ ...judged.mail, id, at: new Date() });
    return success({ MessageId: id });
  });
