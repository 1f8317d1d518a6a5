import express from 'express';
import { createReceiver } from './receiver.ts';

/** One signing secret, or several separated by spaces while one replaces another. */
const secrets = (process.env.WEBHOOK_SECRET ?? '').split(' ').filter(Boolean);
if (secrets.length === 0) throw new Error('WEBHOOK_SECRET is not set.');
const host = process.env.HOST ?? '127.0.0.1';
const port = Number(process.env.PORT ?? 4000);

const app = express();
app.disable('x-powered-by');
// Before express.json(), which other routes may need: the signature is of the raw body.
app.post('/webhooks', createReceiver(secrets));

const server = app.listen(port, host, (error) => {
  if (error) throw error;
  console.log(`Listening at http://${host}:${port}/webhooks`);
});
process.once('SIGTERM', () => server.close());
