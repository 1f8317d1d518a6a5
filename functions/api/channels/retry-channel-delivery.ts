import { retryHandler } from '../resending.ts';
import * as routes from './routes.ts';

export const handler = retryHandler(routes.retryChannelDelivery);
