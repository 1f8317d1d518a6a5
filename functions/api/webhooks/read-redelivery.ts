import { readRedeliveryHandler } from '../redeliveries.ts';
import * as routes from './routes.ts';

export const handler = readRedeliveryHandler(routes.readRedelivery);
