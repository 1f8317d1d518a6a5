import { keyringSource, secretValue } from '../aws/keyrings.ts';
import { environment } from './route-handler.ts';

/** Master keys that signing secrets are derived from. */
export const signingKeys = keyringSource(secretValue(environment.SIGNING_KEYS));
