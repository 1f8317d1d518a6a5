import { readSecrets } from './secrets.ts';

/** Next.js calls it when a server starts, and not during a build, which needs no secret. */
export function register(): void {
  if (process.env.NEXT_RUNTIME !== 'nodejs' || readSecrets().length > 0) return;
  console.error('WEBHOOK_SECRET is not set.');
  process.exit(1);
}
