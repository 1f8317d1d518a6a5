import { SQSClient } from '@aws-sdk/client-sqs';
import { prepared } from './prepared.ts';
import { terms } from './terms.ts';

export const queueClient = (): SQSClient => prepared(new SQSClient(terms()), 'sqs');
