import { signInEndpoint } from './endpoint.ts';
import { renewing } from './renewing.ts';
import { renewSession } from './routes.ts';

export const handler = signInEndpoint(renewSession, renewing);
