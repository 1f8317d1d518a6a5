export const SANDBOX = '/api/settings/sandbox';
export const KEYS = '/api/settings/api-keys';
