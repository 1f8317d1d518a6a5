import { beginning } from './beginning.ts';
import { signInEndpoint } from './endpoint.ts';
import { beginSignIn } from './routes.ts';

export const handler = signInEndpoint(beginSignIn, beginning);
