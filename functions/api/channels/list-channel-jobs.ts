import { listRedeliveriesHandler } from '../redeliveries.ts';
import * as routes from './routes.ts';

export const handler = listRedeliveriesHandler(routes.listChannelRedeliveries);
