import { secretValue } from '../platform/clients/secrets-manager.ts';
import { keyringSource } from '../platform/keyrings.ts';
import { environment } from './endpoint.ts';

/** The keys that seal what clients carry about: cursors, and the tokens of visitors. */
export const cursorKeys = keyringSource(secretValue(environment.CURSOR_KEYS));
