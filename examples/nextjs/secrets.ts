/** One signing secret, or several separated by spaces while one replaces another. */
export const readSecrets = (): string[] => (process.env.WEBHOOK_SECRET ?? '').split(' ').filter(Boolean);
