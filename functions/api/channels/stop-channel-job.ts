import { stopRedeliveryHandler } from '../redeliveries.ts';
import * as routes from './routes.ts';

export const handler = stopRedeliveryHandler(routes.stopChannelRedelivery);
