import { signInEndpoint } from './endpoint.ts';
import { finishing } from './finishing.ts';
import { finishSignIn } from './routes.ts';

export const handler = signInEndpoint(finishSignIn, finishing);
