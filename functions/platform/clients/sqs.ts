import { SQSClient } from '@aws-sdk/client-sqs';
import { terms } from './terms.ts';
import { countingThrottles } from './throttles.ts';

export const queueClient = (): SQSClient => countingThrottles(new SQSClient(terms()), 'sqs');
