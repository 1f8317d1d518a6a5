import { recipientsOf, type SentMail } from 'aws-local/mail/mail.ts';
import { openMailbox } from 'aws-local/mail/mailbox.ts';

/** An e-mail as its recipient gets it. */
export interface ReceivedMail extends Pick<SentMail, 'text' | 'html' | 'subject' | 'at'> {
  /** All recipients. */
  to: string[];
}

/**
 * The e-mails that a run has sent, oldest first.
 * @param state directory of the run
 */
export async function mailsIn(state: string): Promise<ReceivedMail[]> {
  const mailbox = openMailbox(state);
  const names = (await mailbox.names()).toReversed();
  const messages = await Promise.all(names.map((name) => mailbox.read(name)));
  return messages.flatMap((message) => {
    if (!message) return [];
    const { text, html, subject, at } = message.mail;
    return [{ to: recipientsOf(message.mail), subject, text, html, at }];
  });
}
