import { startRedeliveryHandler } from '../redeliveries.ts';
import * as routes from './routes.ts';

export const handler = startRedeliveryHandler(routes.startRedelivery);
