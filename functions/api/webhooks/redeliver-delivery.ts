import { redeliverHandler } from '../resending.ts';
import * as routes from './routes.ts';

export const handler = redeliverHandler(routes.redeliverDelivery);
