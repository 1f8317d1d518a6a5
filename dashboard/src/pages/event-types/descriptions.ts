import { useTexts } from '../../text/language.ts';
import { type CataloguedType, ENTRIES } from './catalogue.ts';
import type { FieldRow } from './fields.ts';

/** The description of a type, in the reader's language, with names of the code between backticks. */
export function useDescriptionOf(): (type: CataloguedType) => string {
  const { translated } = useTexts().eventTypes;
  return (type) => translated?.types[type].description ?? ENTRIES[type].description;
}

/** The description of a field, in the reader's language. */
export function useFieldDescriptionOf(type: CataloguedType): (row: FieldRow) => string {
  const { translated } = useTexts().eventTypes;
  return ({ name, path, description }) => {
    const texts: Readonly<Record<string, string>> | undefined =
      path.length === 0 ? translated?.envelope : translated?.types[type].data;
    return texts?.[name] ?? description ?? '';
  };
}
