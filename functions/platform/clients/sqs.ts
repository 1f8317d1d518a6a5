import { SQSClient } from '@aws-sdk/client-sqs';
import { terms } from './terms.ts';
import { countThrottles } from './throttles.ts';

export const queueClient = (): SQSClient => countThrottles(new SQSClient(terms()), 'sqs');
