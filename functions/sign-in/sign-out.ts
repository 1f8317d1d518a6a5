import { ending } from './ending.ts';
import { signInEndpoint } from './endpoint.ts';
import { signOut } from './routes.ts';

export const handler = signInEndpoint(signOut, ending);
