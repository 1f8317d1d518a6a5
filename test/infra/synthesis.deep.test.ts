import { wholeSynthesis } from './synthesis.ts';

wholeSynthesis();
