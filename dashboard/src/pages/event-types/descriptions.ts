import { t } from '../../text/language.ts';
import { type CataloguedType, ENTRIES, type FieldRow } from './catalogue.ts';

/** The description of a type, in the reader's language, with names of the code between backticks. */
export const descriptionOf = (type: CataloguedType): string =>
  t.eventTypes.translated?.types[type].description ?? ENTRIES[type].description;

/** The description of a field, in the reader's language. */
export function fieldDescriptionOf(type: CataloguedType, { name, path, description }: FieldRow): string {
  const { translated } = t.eventTypes;
  const texts: Readonly<Record<string, string>> | undefined =
    path.length === 0 ? translated?.envelope : translated?.types[type].data;
  return texts?.[name] ?? description ?? '';
}
