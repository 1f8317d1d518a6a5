import { listDeliveriesHandler } from '../deliveries.ts';
import * as routes from './routes.ts';

export const handler = listDeliveriesHandler(routes.listDeliveries);
