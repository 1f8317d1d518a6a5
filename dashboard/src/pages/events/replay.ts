/** Where requests go unless the reader's environment says otherwise. */
const LOCAL_RECEIVER = 'http://localhost:4000/hooks';

interface Replayed {
  id: string;
  /** The request body of every delivery, byte for byte. */
  payload: string;
}

/** A word of a POSIX shell that is this text. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A command that posts an event's payload without a signature. */
export const curlOf = ({ id, payload }: Replayed): string =>
  // Through a pipe, because an argument of a program is limited to 128 KiB.
  [
    `printf %s ${quoted(payload)} |`,
    `  curl -i -X POST "\${RECEIVER_URL:-${LOCAL_RECEIVER}}" \\`,
    `    -H 'Content-Type: application/json' -H 'webhook-id: ${id}' --data-binary @-`,
  ].join('\n');

/**
 * A command that posts an event's payload as a delivery has it (docs/guides/verify-signatures.md): signed
 * with the current time and the secret in `WEBHOOK_SECRET`.
 */
export const signedOf = ({ id, payload }: Replayed): string => `node --input-type=module <<'END'
import { createHmac } from 'node:crypto';

const { WEBHOOK_SECRET, RECEIVER_URL = '${LOCAL_RECEIVER}' } = process.env;
if (!WEBHOOK_SECRET) throw new Error('Set WEBHOOK_SECRET to the signing secret of the endpoint.');
const id = '${id}';
const timestamp = String(Math.floor(Date.now() / 1000));
const body = ${JSON.stringify(payload)};
const key = Buffer.from(WEBHOOK_SECRET.slice('whsec_'.length), 'base64');
const digest = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\${body}\`).digest('base64');
const response = await fetch(RECEIVER_URL, {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': \`v1,\${digest}\`,
  },
  body,
});
console.log(response.status, await response.text());
END`;
