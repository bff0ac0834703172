/* object_path.h - where a shared object that a scenario names is: a user's model, a subject. */
#pragma once
#include <glib.h>

/* What holds a slash is a path, relative to the folder of the file `beside`; a word is one that comes with the program:
 * FOLDER/NAME.so where it was built, lib/stampede/FOLDER/NAME.so where it was installed. Whether it is there is not
 * looked at. g_free. */
char *object_path(const char *name, const char *folder, const char *beside);
