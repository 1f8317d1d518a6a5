import { statsHandler } from '../receiver-stats.ts';
import * as routes from './routes.ts';

export const handler = statsHandler(routes.readChannelStats);
