import { readDeliveryHandler } from '../deliveries.ts';
import * as routes from './routes.ts';

export const handler = readDeliveryHandler(routes.readChannelDelivery);
